/** `/streams`: the choice of a stream to watch, and commands that send one. */
import { useState } from 'preact/hooks';
import { go } from '../navigate.ts';
import { usePageTitle } from '../pages/page-title.ts';
import { SiteHead } from '../pages/site-head.tsx';
import { AddressForm } from './address-form.tsx';
import { Commands } from './commands.tsx';
import './streams-page.css';
import { streamPath, topicOfText } from './topic.ts';

const EXAMPLE = 'out/cam';

export function StreamsPage({ problem }: { readonly problem: boolean }) {
  const heading = usePageTitle('Streams · Parley');
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(problem);
  const topic = topicOfText(text);
  return (
    <div class="site" data-testid="page-streams">
      <SiteHead />
      <main class="site-main streams-main">
        <section class="streams-watch">
          <h1 ref={heading} tabIndex={-1}>
            Watch a stream
          </h1>
          <p class="hero-text">Live video, audio or lines of text from any sender.</p>
          <AddressForm
            label="Topic or link"
            id="topic"
            example={EXAMPLE}
            text={text}
            problem={
              wrong
                ? 'This is not a topic. A topic is a name like out/cam: one or more parts between slashes, none of them empty, and not a name that the server reserves.'
                : null
            }
            onText={(changed) => {
              setText(changed);
              setWrong(false);
            }}
            onSubmit={() => {
              if (topic !== undefined) go(streamPath(topic));
              else setWrong(true);
            }}
          />
        </section>
        <section class="streams-send">
          <h2>Send a stream</h2>
          <p class="soft">
            What you send to <code>in/cam</code>, others receive at <code>out/cam</code>. On any other topic,
            every client receives the messages of all others. <code>make cli</code> installs the command{' '}
            <code>parley</code>.
          </p>
          <Commands topic={topic ?? EXAMPLE} />
        </section>
      </main>
    </div>
  );
}
