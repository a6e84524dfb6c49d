const only = document.getElementById('only'), find = document.getElementById('find');
function show() {
  for (const row of document.querySelectorAll('tbody tr')) {
    const hit = row.dataset.name.includes(find.value.toLowerCase());
    row.hidden = !hit || (only.checked && row.dataset.red === '0');
  }
}
function unfold() {
  const aim = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (aim && aim.tagName === 'DETAILS') { aim.open = true; aim.scrollIntoView(); }
}
for (const pre of document.querySelectorAll('pre')) {
  const button = document.createElement('button'), text = pre.textContent;
  button.textContent = 'copy';
  button.onclick = () => navigator.clipboard.writeText(text).then(() => { button.textContent = 'copied'; });
  pre.prepend(button);
}
only.addEventListener('change', show); find.addEventListener('input', show);
addEventListener('hashchange', unfold); unfold();
