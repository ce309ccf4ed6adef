/** The styles that every page needs, in the order of the cascade. */
import './tokens.css';
import './base.css';
import './forced-colors.css';
import './dialog.css';
import './logo.css';
import './avatar.css';
