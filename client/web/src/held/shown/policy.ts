/**
 * What content may do. It stands in a frame without scripts, forms and an origin (`sandbox=""`), within a frame that has nothing but this
 * policy: the server sends it with the outer frame's document, and the inner one inherits it. So the application's own policy stays as it is.
 */

/** The document of the outer frame, in `public`. */
export const FRAME_PATH = '/held-frame.html';

/** Nothing leaves: not even by a link, as `frame-src` also holds for where a frame is led. */
export const CONTENT_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-src 'none'; form-action 'none'; base-uri 'none'";
