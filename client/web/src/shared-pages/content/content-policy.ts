/**
 * The permissions of content. It is in a frame without scripts, forms and origin (`sandbox=""`), inside a frame that has only this policy: the
 * server sends it with the document of the outer frame, and the inner one inherits it. The policy of the application itself stays strict.
 */

/** The document of the outer frame, in `public`. */
export const FRAME_PATH = '/content-frame.html';

/** Nothing is sent: `frame-src` also blocks navigation of the frame by a link. */
export const CONTENT_POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-src 'none'; form-action 'none'; base-uri 'none'";
