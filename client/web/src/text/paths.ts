/** The text about the path of media. */
import type { CallPath, Person } from '@parley/sdk/call';

const CAUSES: Readonly<Record<Extract<CallPath, { readonly kind: 'sfu' }>['reason'], string>> = {
  people: 'The room is too large for direct connections',
  unreachable: 'A direct connection to someone is not possible',
  requested: 'Someone here, for example at a terminal, uses media relays',
};

/** `usual`: nothing that a participant has to be told. */
export interface PathText {
  readonly label: string;
  readonly title: string;
  readonly tone: 'usual' | 'calm' | 'warning';
}

/** The description for the whole call: who can read its media. `people`: the others. */
export function pathText(path: CallPath, people: readonly Pick<Person, 'link'>[]): PathText {
  const { kind, reason } = path;
  if (kind === 'sfu') {
    const cause = CAUSES[reason];
    const besides = directly(people);
    return path.encrypted
      ? {
          label: 'End-to-end encrypted',
          title: `${cause}, so voice and video go through media relays, which cannot read them: only people with your link get the keys.${besides}`,
          tone: 'calm',
        }
      : {
          label: 'Through relays',
          title: `${cause}, so voice and video go through media relays. Relays can read them.${besides}`,
          tone: 'warning',
        };
  }
  switch (reason) {
    case null:
      return {
        label: 'Encrypted',
        title:
          'Voice and video are encrypted from browser to browser. A TURN server that forwards them cannot read them; only this site could, by introducing itself in place of someone. Comparing the security code shows whether it does.',
        tone: 'usual',
      };
    case 'no-relay':
      return {
        label: 'Without relays',
        title: 'The room is large and no media relay is free: everyone sends to everyone.',
        tone: 'warning',
      };
    case 'no-codecs':
      return {
        label: 'Without relays',
        title: 'The room is large and this browser cannot use media relays: it sends to everyone directly.',
        tone: 'warning',
      };
    case 'not-loaded':
      return {
        label: 'Without relays',
        title:
          'The room is large, and a part of this page did not load that it needs for media relays: it sends to everyone directly. Reload it when the network is better.',
        tone: 'warning',
      };
    default:
      return reason satisfies never;
  }
}

/** A sentence about those whose media relays do not bring, or who need none. */
function directly(people: readonly Pick<Person, 'link'>[]): string {
  const { length } = people.filter(({ link }) => link.status === 'connected' && link.path !== 'sfu');
  if (length === 0) return '';
  return ` What ${length === 1 ? 'one person sends' : `${length} people send`} you comes from them directly.`;
}
