$declared_pause
declare i32 @clock_gettime(i32, ptr)
declare i32 @sem_wait(ptr)
declare i32 @sem_post(ptr)

define private i1 @exchange(ptr %state, i64 %from, i64 %to) {
  %pair = cmpxchg ptr %state, i64 %from, i64 %to seq_cst seq_cst
  %is_done = extractvalue { i64, i1 } %pair, 1
  ret i1 %is_done
}

define private i1 @is_done(ptr %box) {
  %state = load atomic i64, ptr %box seq_cst, align 8
  %is_awake = icmp eq i64 %state, 3
  %sleeps = icmp eq i64 %state, 6
  %is_done = or i1 %is_awake, %sleeps
  ret i1 %is_done
}

define private void @work(ptr %job, i64 %slot) {
entry:
  %tables_at = getelementptr i64, ptr %job, i64 $tables
  %next_at = getelementptr i64, ptr %job, i64 $next_part
  %parts_at = getelementptr i64, ptr %job, i64 $parts
  %units_at = getelementptr i64, ptr %job, i64 $units
  %scratch_at = getelementptr i64, ptr %job, i64 $scratch
  %bytes_at = getelementptr i64, ptr %job, i64 $scratch_bytes
  %function = load ptr, ptr %job
  %tables = load ptr, ptr %tables_at
  %parts = load i64, ptr %parts_at
  %units = load i64, ptr %units_at
  %scratches = load ptr, ptr %scratch_at
  %bytes = load i64, ptr %bytes_at
  %offset = mul i64 %bytes, %slot
  %scratch = getelementptr i8, ptr %scratches, i64 %offset
  br label %take
take:
  %part = atomicrmw add ptr %next_at, i64 1 seq_cst
  %is_left = icmp slt i64 %part, %parts
  br i1 %is_left, label %compute, label %end
compute:
  %table_at = getelementptr ptr, ptr %tables, i64 %part
  %table = load ptr, ptr %table_at
  %following = add i64 %part, 1
  %before = mul i64 %units, %part
  %first = sdiv i64 %before, %parts
  %behind = mul i64 %units, %following
  %last = sdiv i64 %behind, %parts
  call void %function(ptr %table, i64 %first, i64 %last, ptr %scratch)
  br label %take
end:
  ret void
}

define private i64 @now(ptr %time) {
  %error = call i32 @clock_gettime(i32 1, ptr %time)
  %nanoseconds_at = getelementptr i64, ptr %time, i64 1
  %seconds = load i64, ptr %time
  %nanoseconds = load i64, ptr %nanoseconds_at
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %nanoseconds
  ret i64 %sum
}

define void @serve(ptr %box, i64 %unused, i64 %unused2, ptr %unused3) {
entry:
  %job_at = getelementptr i64, ptr %box, i64 $job_at
  %slot_at = getelementptr i64, ptr %box, i64 $slot_at
  %posted = getelementptr i64, ptr %box, i64 $posted_at
  %finished = getelementptr i64, ptr %box, i64 $finished_at
  %looks_at = getelementptr i64, ptr %box, i64 $looks_at
  %time = alloca [2 x i64]
  br label %rest
rest:
  %since = call i64 @now(ptr %time)
  br label %wait
wait:
  %looks = load i64, ptr %looks_at
  br label %look
look:
  %k = phi i64 [ 0, %wait ], [ %k2, %look2 ]
  %state = load atomic i64, ptr %box seq_cst, align 8
  %is_posted = icmp eq i64 %state, 1
  br i1 %is_posted, label %take, label %look2
look2:
  $pause
  %k2 = add i64 %k, 1
  %is_long = icmp sgt i64 %k2, %looks
  br i1 %is_long, label %tire, label %look
tire:
  %is_free = call i1 @exchange(ptr %box, i64 0, i64 5)
  br i1 %is_free, label %sleep, label %tire2
tire2:
  %is_uncollected = call i1 @exchange(ptr %box, i64 3, i64 6)
  br i1 %is_uncollected, label %sleep, label %wait
sleep:
  %error = call i32 @sem_wait(ptr %posted)
  %is_interrupted = icmp ne i32 %error, 0
  br i1 %is_interrupted, label %sleep, label %woken
woken:
  ; invariant: only who posts takes 5 or 6 away, so a thread that finds them was woken by nothing
  %seen = load atomic i64, ptr %box seq_cst, align 8
  %still_sleeps = icmp sge i64 %seen, 5
  br i1 %still_sleeps, label %sleep, label %wait
take:
  %is_mine = call i1 @exchange(ptr %box, i64 1, i64 2)
  br i1 %is_mine, label %help, label %wait
help:
  %until = call i64 @now(ptr %time)
  %waited = sub i64 %until, %since
  %is_soon = icmp slt i64 %waited, $short_ns
  %looks2 = select i1 %is_soon, i64 $looks, i64 0
  store i64 %looks2, ptr %looks_at
  %job = load ptr, ptr %job_at
  %slot = load i64, ptr %slot_at
  call void @work(ptr %job, i64 %slot)
  %before = atomicrmw xchg ptr %box, i64 3 seq_cst
  %is_awaited = icmp eq i64 %before, 4
  br i1 %is_awaited, label %tell, label %rest
tell:
  %error2 = call i32 @sem_post(ptr %finished)
  br label %rest
}

; boxes: addresses of boxes, of which each is free
define void @kernel(ptr %job, i64 %count, i64 %spins, ptr %boxes) {
entry:
  %has_boxes = icmp sgt i64 %count, 0
  br i1 %has_boxes, label %post, label %own
post:
  %i = phi i64 [ 0, %entry ], [ %i2, %following ]
  %i2 = add i64 %i, 1
  %at = getelementptr ptr, ptr %boxes, i64 %i
  %box = load ptr, ptr %at
  %job_at = getelementptr i64, ptr %box, i64 $job_at
  %slot_at = getelementptr i64, ptr %box, i64 $slot_at
  %posted = getelementptr i64, ptr %box, i64 $posted_at
  store ptr %job, ptr %job_at
  store i64 %i2, ptr %slot_at
  %before = atomicrmw xchg ptr %box, i64 1 seq_cst
  %is_asleep = icmp eq i64 %before, 5
  br i1 %is_asleep, label %wake, label %following
wake:
  %error = call i32 @sem_post(ptr %posted)
  br label %following
following:
  %has_more = icmp slt i64 %i2, %count
  br i1 %has_more, label %post, label %own
own:
  call void @work(ptr %job, i64 0)
  br i1 %has_boxes, label %collect, label %end
collect:
  %j = phi i64 [ 0, %own ], [ %j2, %next ]
  %j2 = add i64 %j, 1
  %at2 = getelementptr ptr, ptr %boxes, i64 %j
  %box2 = load ptr, ptr %at2
  %finished = getelementptr i64, ptr %box2, i64 $finished_at
  %is_late = call i1 @exchange(ptr %box2, i64 1, i64 0)
  br i1 %is_late, label %next, label %look
look:
  %k = phi i64 [ 0, %collect ], [ %k2, %look2 ]
  %is_done = call i1 @is_done(ptr %box2)
  br i1 %is_done, label %free, label %look2
look2:
  $pause
  %k2 = add i64 %k, 1
  %is_long = icmp sgt i64 %k2, %spins
  br i1 %is_long, label %sleep, label %look
sleep:
  %is_told = call i1 @exchange(ptr %box2, i64 2, i64 4)
  br i1 %is_told, label %await, label %free
await:
  %error3 = call i32 @sem_wait(ptr %finished)
  %is_interrupted = icmp ne i32 %error3, 0
  br i1 %is_interrupted, label %await, label %told
told:
  %is_done2 = call i1 @is_done(ptr %box2)
  br i1 %is_done2, label %free, label %await
free:
  %is_awake = call i1 @exchange(ptr %box2, i64 3, i64 0)
  br i1 %is_awake, label %next, label %free2
free2:
  %sleeps = call i1 @exchange(ptr %box2, i64 6, i64 5)
  br label %next
next:
  %has_more2 = icmp slt i64 %j2, %count
  br i1 %has_more2, label %collect, label %end
end:
  ret void
}
