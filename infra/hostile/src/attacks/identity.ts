/** Speaking as another participant. */
import { randomBytes } from 'node:crypto';
import type { Attack } from '../attack.ts';
import { Participant } from '../participant.ts';

const CLOCK_MS = 60_000;
const CHAT_CHARS = 2000;

export const IDENTITY_ATTACKS: readonly Attack[] = [
  {
    name: 'chat-under-another-name',
    rules: ['CHAT-4'],
    async run(arena) {
      const ada = await Participant.enter(arena.edge, arena.room(), { from: arena.address(), name: 'Ada' });
      const eve = await Participant.enter(arena.edge, ada.room, { from: arena.address(), name: 'Eve' });
      const line = (about: object) => ({
        id: `forged-${randomBytes(8).toString('hex')}`,
        from: eve.id,
        name: 'Eve',
        text: 'x',
        at: Date.now(),
        ...about,
      });
      const chat = [
        line({ name: 'Ada' }),
        line({ from: ada.id, name: 'Ada' }),
        line({ at: Date.now() + 86_400_000 }),
        line({ at: 1 }),
        line({ text: 'y'.repeat(CHAT_CHARS + 1) }),
        ...Array.from({ length: 15 }, () => line({})),
      ];
      const { resume } = eve.welcome;
      eve.drop();
      await ada.waitFor('away');
      const since = ada.log.length;
      await eve.connect();
      eve.sendResume(resume, { name: 'Eve', chat });
      await eve.changes.until(
        'a welcome or a refusal',
        () => eve.closed !== undefined || eve.log.filter(({ type }) => type === 'welcome').length > 1,
        10_000,
      );
      // Chat that the pod accepted is in Ada's log before what is sent after it.
      if (eve.closed === undefined) {
        eve.send({ type: 'change', media: { audio: true, video: false, screen: false } });
        await ada.waitFor('changed', { since });
      }
      const received = ada.log.slice(since).flatMap((one) => (one.type === 'chat' ? [one.line] : []));
      for (const { from, name, text, at } of received) {
        if (from !== eve.id || name !== 'Eve') throw new Error(`a line of ${name}`);
        if (text.length > CHAT_CHARS) throw new Error(`a line of ${text.length} characters`);
        if (Math.abs(at - Date.now()) > CLOCK_MS) throw new Error(`a line of ${new Date(at).toISOString()}`);
      }
      for (const one of [ada, eve]) one.drop();
      return `${received.length} of ${chat.length} lines, all as Eve`;
    },
  },
];
