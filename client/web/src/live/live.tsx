/** Loaded for addresses under /live. */
import type { ComponentChild } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { LivePage } from './live-page.tsx';
import { liveRoute } from './live-route.ts';
import { PublishPage } from './publish-page.tsx';
import { PublishSession } from './publish-session.ts';
import { WatchPage } from './watch-page.tsx';
import { WatchSession } from './watch-session.ts';

export function PartPage({ path }: { readonly path: string }) {
  const route = liveRoute(path);
  switch (route.at) {
    case 'index':
      return <LivePage problem={false} />;
    case 'invalid':
      return <LivePage problem />;
    case 'watch':
      return <Watched key={path} name={route.name} />;
    case 'publish':
      return <Published key={path} name={route.name} />;
    default:
      return route satisfies never;
  }
}

const Watched = ({ name }: { readonly name: string }) =>
  useSession(
    () => new WatchSession(name),
    (session) => <WatchPage view={session} />,
  );

const Published = ({ name }: { readonly name: string }) =>
  useSession(
    () => new PublishSession(name),
    (session) => <PublishPage view={session} />,
  );

/** Creates the session at the first render and closes it at the last. */
function useSession<Session extends { close(): void }>(
  open: () => Session,
  show: (session: Session) => ComponentChild,
): ComponentChild {
  const [session, setSession] = useState<Session | null>(null);
  useEffect(() => {
    const opened = open();
    setSession(opened);
    return () => opened.close();
  }, []);
  return session && show(session);
}
