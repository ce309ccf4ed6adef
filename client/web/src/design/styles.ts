/** The styles every page needs, in the order in which they build on each other. */
import './tokens.css';
import './base.css';
import './dialog.css';
import './logo.css';
import './avatar.css';
