import type { Link, LinkQuality, Person } from '@parley/sdk/call';
import { linkMeaning, PATHS } from '../text/paths.ts';
import { Dialog } from '../design/dialog.tsx';
import type { CallSession } from './session.ts';

const QUALITY: Record<LinkQuality, string> = {
  good: 'Good',
  fair: 'Fair',
  poor: 'Poor',
  unknown: 'Measuring…',
};

/** A connection in a few words, for the button on a tile and its tooltip. */
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

export function LinkDialog({
  session,
  participant,
  onClose,
}: {
  readonly session: CallSession;
  readonly participant: string;
  readonly onClose: () => void;
}) {
  const person = session.snapshot.value.people.find((one) => one.participant === participant);
  return (
    <Dialog
      title={person ? `Connection with ${person.name}` : 'Connection'}
      onClose={onClose}
      testid="link-dialog"
    >
      {person ? <LinkFacts session={session} person={person} /> : <p>This person left the call.</p>}
    </Dialog>
  );
}

function LinkFacts({ session, person }: { readonly session: CallSession; readonly person: Person }) {
  const { link } = person;
  const meaning = linkMeaning(link, session.mediaKey.value !== null);
  const connected = link.status === 'connected' ? link : null;
  return (
    <>
      <dl class="facts">
        <Fact name="Quality" value={connected ? QUALITY[connected.quality] : statusOf(link)} />
        <Fact name="Path" value={connected ? PATHS[connected.path] : '–'} />
        <Fact name="Round trip" value={amount(connected?.roundTripMs, 'ms', 0)} />
        <Fact name="Packets lost" value={amount(connected?.lossPercent, '%', 1)} />
        <Fact name="Your server" value={session.pod.value || '–'} />
      </dl>
      {meaning !== null && <p class="soft small">{meaning}</p>}
    </>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function statusOf(link: Link): string {
  const text = linkText(link);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function amount(value: number | null | undefined, unit: string, digits: number): string {
  return typeof value === 'number' ? `${value.toFixed(digits)} ${unit}` : '–';
}
