"""Images as arrays: `_image_to_tensor`, `_image_resize` and the other operators of `nd.image`.

An image has the axes (height, width, channels), and there may be others in front, of several images. Each
module is imported when one of its operators is first used.
"""
