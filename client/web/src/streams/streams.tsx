/** Loaded for addresses under /streams. */
import { useEffect, useState } from 'preact/hooks';
import { fragmentToken } from './address.ts';
import { StreamPage } from './stream-page.tsx';
import { StreamSession } from './stream-session.ts';
import { StreamsPage } from './streams-page.tsx';
import { isStreamsIndex, topicOfPath } from './topic.ts';

export function PartPage({ path }: { readonly path: string }) {
  if (isStreamsIndex(path)) return <StreamsPage problem={false} />;
  const topic = topicOfPath(path);
  return topic === undefined ? <StreamsPage problem /> : <Watched key={topic} topic={topic} />;
}

function Watched({ topic }: { readonly topic: string }) {
  const [session, setSession] = useState<StreamSession | null>(null);
  useEffect(() => {
    const opened = new StreamSession({
      topic,
      token: fragmentToken(location.hash),
      code: new URLSearchParams(location.search).get('code'),
    });
    const changed = (): void => {
      const token = fragmentToken(location.hash);
      if (token !== null) opened.useToken(token);
    };
    addEventListener('hashchange', changed);
    setSession(opened);
    return () => {
      removeEventListener('hashchange', changed);
      opened.close();
    };
  }, [topic]);
  return session && <StreamPage stream={session} />;
}
