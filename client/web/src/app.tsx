import { LazyPart } from './pages/lazy-part.tsx';
import { Landing } from './pages/landing.tsx';
import { InvalidLink, NotFound, Unsupported } from './pages/plain-notices.tsx';
import { RoomPage } from './pages/room-page.tsx';
import { path } from './navigate.ts';
import { routeOf } from './route.ts';

export function App() {
  const route = routeOf(path.value);
  switch (route.page) {
    case 'landing':
      return <Landing />;
    case 'room':
      // Without getUserMedia one can still listen (a page without https); without RTCPeerConnection there is no call.
      return typeof RTCPeerConnection === 'undefined' ? (
        <Unsupported />
      ) : (
        <RoomPage key={route.room.room} room={route.room} />
      );
    case 'streams':
    case 'live':
    case 'shared-pages':
      return <LazyPart key={route.page} part={route.page} path={route.path} />;
    case 'invalid-link':
      return <InvalidLink />;
    case 'not-found':
      return <NotFound />;
    default:
      return route satisfies never;
  }
}
