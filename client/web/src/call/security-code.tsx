/** The code by which participants know that no other has the keys of their media. */
import type { Person, SecurityCode } from '@parley/sdk/call';
import { useEffect, useState } from 'preact/hooks';
import type { CallSession } from './session.ts';

/** A participant whose keys arrive changes the code. */
const AGAIN_MS = 1000;

const names = new Intl.ListFormat('en');

/** The code that was shown before, by call. */
const seen = new WeakMap<CallSession, string>();

export function SecurityCodeSection({ session }: { readonly session: CallSession }) {
  const shown = useSecurityCode(session);
  const { people } = session.snapshot.value;
  const isKnown = ({ participant }: Person): boolean => shown?.participants.includes(participant) ?? false;
  const known = people.filter(isKnown);
  if (shown === null || known.length === 0) return null;
  const unknown = people.filter((person) => !isKnown(person));
  return (
    <>
      <h3>Security code</h3>
      <code class="secret security-code" data-testid="security-code">
        {shown.code}
      </code>
      <p class="soft small">
        Read it to each other. Where you and {listed(known)} see the same code, no other person and no server
        has the keys of what you say and show. It changes when someone joins, leaves, reloads or reconnects.
        {shown.changed && ' It has changed since you looked.'}
        {unknown.length > 0 && ` It says nothing about ${listed(unknown)}.`}
      </p>
    </>
  );
}

const listed = (people: readonly Person[]): string => names.format(people.map(({ name }) => name));

function useSecurityCode(session: CallSession): (SecurityCode & { readonly changed: boolean }) | null {
  const [shown, setShown] = useState<SecurityCode | null>(null);
  const [before] = useState(() => seen.get(session));
  useEffect(() => {
    let over = false;
    const look = async (): Promise<void> => {
      const found = await session.securityCode();
      if (over) return;
      setShown((last) => (last?.code === found?.code ? last : found));
      if (found !== null) seen.set(session, found.code);
    };
    void look();
    const timer = setInterval(() => void look(), AGAIN_MS);
    return () => {
      over = true;
      clearInterval(timer);
    };
  }, [session]);
  return shown && { ...shown, changed: before !== undefined && before !== shown.code };
}
