/** `/streams`: which stream to watch, and how to send one. */
import { useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { go } from '../navigate.ts';
import { usePageTitle } from '../pages/page-title.ts';
import { SiteHead } from '../pages/site-head.tsx';
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
    <div class="streams" data-testid="page-streams">
      <SiteHead />
      <main class="streams-main">
        <section class="streams-watch">
          <h1 ref={heading} tabIndex={-1}>
            Watch a stream
          </h1>
          <p class="hero-text">Pictures, sound or lines of text, live from any sender.</p>
          <form
            class="topic-form"
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              if (topic !== undefined) go(streamPath(topic));
              else setWrong(true);
            }}
          >
            <label class="field">
              <span class="label">Topic or link</span>
              <input
                class="input"
                data-testid="topic"
                placeholder={EXAMPLE}
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
                value={text}
                aria-invalid={wrong}
                aria-describedby="topic-problem"
                onInput={(event) => {
                  setText(event.currentTarget.value);
                  setWrong(false);
                }}
              />
            </label>
            <button type="submit" class="button primary" data-testid="watch" disabled={text.trim() === ''}>
              Watch
              <Icon name="arrow" />
            </button>
            <p id="topic-problem" class="field-problem" role="alert" data-testid="topic-problem">
              {wrong &&
                'That is no topic. A topic is a name like out/cam: parts between slashes, none of them empty, and not a name the server uses itself.'}
            </p>
          </form>
        </section>
        <section class="streams-send">
          <h2>Send one</h2>
          <p class="soft">
            Send to <code>in/cam</code> and everybody watches at <code>out/cam</code>. On any other topic all
            hear each other. <code>parley</code> is the command that <code>make cli</code> installs.
          </p>
          <Commands topic={topic ?? EXAMPLE} />
        </section>
      </main>
    </div>
  );
}
