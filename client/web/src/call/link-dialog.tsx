import type { Link, LinkQuality, Person } from '@parley/sdk/call';
import { linkMeaning } from '../text/link-meaning.ts';
import { linkText, PATHS } from '../text/links.ts';
import { Dialog } from '../design/dialog.tsx';
import type { CallSession } from './session.ts';

const QUALITY: Record<LinkQuality, string> = {
  good: 'Good',
  fair: 'Fair',
  poor: 'Poor',
  unknown: 'Measuring…',
};

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
