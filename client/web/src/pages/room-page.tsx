import type { RoomReference } from '@parley/protocol/ids';
import { useEffect, useMemo } from 'preact/hooks';
import { EndingPage } from './ending-page.tsx';
import { Notice } from './notice.tsx';
import { Prejoin } from './prejoin.tsx';
import { loadCall, RoomVisit } from './room-visit.ts';

export function RoomPage({ room }: { readonly room: RoomReference }) {
  const visit = useMemo(() => new RoomVisit(room.room), [room.room]);
  useEffect(() => {
    void visit.arrive();
    return () => visit.close();
  }, [visit]);

  const stage = visit.stage.value;
  switch (stage.at) {
    case 'arriving':
      return (
        <Notice icon="door" mood="goodbye" title="Opening the room" testid="page-arriving">
          <p>One moment.</p>
        </Notice>
      );
    case 'prejoin':
      return (
        <Prejoin
          room={room}
          media={stage.media}
          onReady={() => void loadCall().catch(() => {})}
          onJoin={(choice) => void visit.join(choice)}
          onGone={(reason) => visit.end(reason, null)}
        />
      );
    case 'call': {
      const Page = stage.page;
      return <Page session={stage.session} />;
    }
    case 'ended':
      return (
        <EndingPage
          key={visit.tries}
          reason={stage.reason}
          retryAfterMs={stage.retryAfterMs}
          tries={visit.tries}
          onAgain={(by) => void visit.again(by)}
        />
      );
    default:
      return stage satisfies never;
  }
}
