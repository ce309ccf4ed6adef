/** Raised hands, reactions and emoji. */
import type { CallSnapshot } from '@parley/sdk/call';
import type { ComponentChild } from 'preact';
import { call, inCall, press } from './call-state.tsx';
import { CHAT, owned, people } from './people.ts';

const ME = 'p00000000000000me';
const [MARA, TOBIAS, ADAEZE] = people(3).map(({ participant }) => participant) as [string, string, string];

const raised = (count: number): Partial<CallSnapshot> => ({
  ...inCall(count),
  hands: [TOBIAS, ME, ADAEZE],
});

const reacted = (...from: readonly (readonly [string, string])[]): Pick<CallSnapshot, 'reactions'> => ({
  reactions: from.map(([participant, emoji], index) => ({ id: index + 1, from: participant, emoji })),
});

const REACTED = reacted([MARA, '👏'], [MARA, '🎉'], [TOBIAS, '👍'], [ME, '❤️']);

export const HAND_STATES: Readonly<Record<string, () => ComponentChild>> = {
  'hands-raised': () => call({ change: raised(5) }),
  'hands-people': () => call({ change: raised(5), script: (session) => session.openPanel('people') }),
  'owner-hands': () =>
    call({
      owner: 'obeyed',
      change: { ...owned(4), hands: [TOBIAS, ME, ADAEZE] },
      script: (session) => session.openPanel('people'),
    }),
  'hands-away': () =>
    call({
      change: {
        hands: [MARA],
        people: people(1).map((person) => ({ ...person, presence: 'away' as const })),
      },
    }),
  reactions: () => call({ change: { ...inCall(4), ...REACTED } }),
  'reactions-elsewhere': () =>
    call({
      change: { ...inCall(40), ...reacted(['p0000000000000039', '👍'], [ME, '🎉']) },
      script: (session) => (session.stage.self.value = false),
    }),
  'reactions-menu': () => call({ change: raised(3), script: (session) => (session.reacting.value = true) }),
  'emoji-picker': () => {
    press('[data-testid=chat-emoji]');
    return call({ change: { ...inCall(4), chat: CHAT }, script: (session) => session.openPanel('chat') });
  },
};
