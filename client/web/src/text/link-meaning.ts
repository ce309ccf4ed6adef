/** Who forwards the media of one connection, and who can read it. */
import type { Link } from '@parley/sdk/call';

/** Whether a server on the way can read the media of this connection; `null` without one. `encrypted`: the link of this page has a key. */
export const isReadable = (link: Link, encrypted: boolean): boolean | null =>
  link.status === 'connected' ? link.path === 'sfu' && !encrypted : null;

/** `null` where there is nothing to say. `encrypted`: the link of this page has a key. */
export function linkMeaning(link: Link, encrypted: boolean): string | null {
  switch (link.status) {
    case 'connected':
      if (link.path === 'direct') return 'Voice and video are encrypted on the way between you.';
      if (link.path === 'turn')
        return 'A firewall is between you, or one of you always uses a TURN server: it forwards what you send, and cannot read it.';
      return encrypted
        ? 'Media relays forward what you send, and cannot read it: only people with your link get the keys.'
        : 'Media relays forward what you send. It is encrypted on the way to them, and they can read it.';
    case 'no-media':
      return 'What this person sends does not arrive through the media relays.';
    case 'other-key':
      return encrypted
        ? 'This person joined with another link, and has no keys for what you send. Send them yours.'
        : 'This person’s link has a key, and yours has none. Ask for the new link.';
    default:
      return null;
  }
}
