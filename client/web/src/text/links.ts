/** A connection in a few words. */
import type { Link } from '@parley/sdk/call';

type Path = Extract<Link, { readonly status: 'connected' }>['path'];

export const PATHS: Readonly<Record<Path, string>> = {
  direct: 'Direct',
  turn: 'Through a TURN server',
  sfu: 'Through media relays',
};

/** For the button on a tile and its tooltip. */
export function linkText(link: Link): string {
  switch (link.status) {
    case 'connecting':
      return 'connecting';
    case 'recovering':
      return 'reconnecting';
    case 'failed':
      return 'no connection';
    case 'no-media':
      return 'nothing arrives through the relays';
    case 'other-key':
      return 'another end-to-end key';
    case 'connected':
      return `${link.quality === 'unknown' ? 'connected' : link.quality}, ${inSentence(PATHS[link.path])}`;
    default:
      return link satisfies never;
  }
}

const inSentence = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
