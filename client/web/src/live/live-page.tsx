/** `/live`: which broadcast to watch, and how to publish one. */
import { useState } from 'preact/hooks';
import { Icon } from '../design/icon.tsx';
import { go } from '../navigate.ts';
import { usePageTitle } from '../pages/page-title.ts';
import { SiteHead } from '../pages/site-head.tsx';
import '../streams/streams-page.css';
import { nameOfText, publishPath, watchPath } from './name.ts';
import './live.css';

const EXAMPLE = 'spring-concert';

export function LivePage({ problem }: { readonly problem: boolean }) {
  const heading = usePageTitle('Live · Parley');
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState(problem);
  const name = nameOfText(text);
  const open = (path: (name: string) => string): void => {
    if (name === undefined) setWrong(true);
    else go(path(name));
  };
  return (
    <div class="streams" data-testid="page-live-choice">
      <SiteHead />
      <main class="streams-main">
        <section class="streams-watch">
          <h1 ref={heading} tabIndex={-1}>
            Live, for everyone
          </h1>
          <p class="hero-text">
            One person shows a camera or a screen, and any number watch. All it takes is a name both sides
            know.
          </p>
          <form
            class="topic-form"
            noValidate
            onSubmit={(event) => {
              event.preventDefault();
              open(watchPath);
            }}
          >
            <label class="field">
              <span class="label">Name or link</span>
              <input
                class="input"
                data-testid="name"
                placeholder={EXAMPLE}
                autocomplete="off"
                autocapitalize="none"
                spellcheck={false}
                value={text}
                aria-invalid={wrong}
                aria-describedby="name-problem"
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
            <p id="name-problem" class="field-problem" role="alert" data-testid="name-problem">
              {wrong &&
                'That is no name for a broadcast. A name is one word like spring-concert, without spaces and slashes.'}
            </p>
          </form>
        </section>
        <section class="streams-send">
          <h2>Publish one</h2>
          <ol class="live-steps">
            <li>Think of a name, and enter it on this page.</li>
            <li>Choose your camera or your screen, and go live.</li>
            <li>Send the link to the people who should watch.</li>
          </ol>
          <button
            type="button"
            class="button"
            data-testid="publish"
            disabled={text.trim() === ''}
            onClick={() => open(publishPath)}
          >
            <Icon name="camera" />
            {name === undefined ? 'Publish' : `Publish ${name}`}
          </button>
        </section>
      </main>
    </div>
  );
}
