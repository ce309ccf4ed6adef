import { useState } from 'preact/hooks';

/** The token is stored in the fragment of the address, which is never sent, so that it survives a reload. */
export function TokenForm({ onToken }: { readonly onToken: (token: string) => void }) {
  const [token, setToken] = useState('');
  return (
    <form
      class="token-form"
      onSubmit={(event) => {
        event.preventDefault();
        const given = token.trim();
        if (given === '') return;
        history.replaceState(null, '', `#${new URLSearchParams({ token: given }).toString()}`);
        onToken(given);
      }}
    >
      <label class="visually-hidden" for="token">
        Access token
      </label>
      <input
        id="token"
        class="input"
        type="password"
        data-testid="token"
        placeholder="Access token"
        autocomplete="off"
        spellcheck={false}
        value={token}
        onInput={(event) => setToken(event.currentTarget.value)}
      />
      <button type="submit" class="button primary" data-testid="use-token" disabled={token.trim() === ''}>
        Use the token
      </button>
    </form>
  );
}
