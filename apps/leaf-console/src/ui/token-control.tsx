import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useConsole } from '../state/context';
import { Field } from './field';

/** Stores the admin token until the tab is closed, and never displays it. */
export function TokenControl(): JSX.Element {
  const { t, token, setToken } = useConsole();
  const [typed, setTyped] = useState('');
  if (token !== '') {
    return (
      <p class="token">
        <span role="status">{t.tokenSet}</span>
        <button type="button" class="quiet" onClick={() => setToken('')}>
          {t.forgetToken}
        </button>
      </p>
    );
  }
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(typed.trim());
        setTyped('');
      }}
    >
      <Field label={t.adminToken} type="password" value={typed} onValue={setTyped} hint={t.tokenHint} required />
      <button type="submit">{t.useToken}</button>
    </form>
  );
}
