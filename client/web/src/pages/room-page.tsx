import type { RoomReference } from '@parley/protocol/ids';
import { useEffect, useMemo } from 'preact/hooks';
import { EndingPage } from './ending-page.tsx';
import { Notice } from './notice.tsx';
import { Prejoin } from './prejoin.tsx';
import { loadCall, RoomVisit } from './room-visit.ts';

export function RoomPage({ room }: { readonly room: RoomReference }) {
  const visit = useMemo(() => new RoomVisit(room.room), [room.room]);
  useEffect(() => {
    void visit.open();
    return () => visit.close();
  }, [visit]);

  const state = visit.state.value;
  switch (state.at) {
    case 'loading':
      return (
        <Notice icon="door" mood="goodbye" title="Opening the room" testid="page-loading">
          <p>One moment.</p>
        </Notice>
      );
    case 'prejoin':
      return (
        <Prejoin
          room={room}
          media={state.media}
          onReady={() => void loadCall().catch(() => {})}
          onJoin={(choice) => void visit.join(choice)}
          onGone={(reason) => visit.end(reason, null)}
        />
      );
    case 'call': {
      const Page = state.page;
      return <Page session={state.session} />;
    }
    case 'ended':
      return (
        <EndingPage
          key={visit.tries}
          reason={state.reason}
          retryAfterMs={state.retryAfterMs}
          tries={visit.tries}
          onAgain={(by) => void visit.again(by)}
        />
      );
    default:
      return state satisfies never;
  }
}
