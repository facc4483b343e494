import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { AdminApi } from '../api/admin-api';
import type { Format } from '../format/format';
import type { Messages } from '../i18n/dictionary';
import type { Language } from '../i18n/messages';
import type { MonitorStore } from '../monitor/monitor-store';
import type { Theme } from './preferences';

/** What every part of the page may need. */
export interface Console {
  readonly store: MonitorStore;
  readonly admin: AdminApi;
  readonly token: string;
  readonly setToken: (token: string) => void;
  readonly t: Messages;
  readonly format: Format;
  readonly language: Language;
  readonly setLanguage: (language: Language) => void;
  readonly theme: Theme;
  readonly setTheme: (theme: Theme) => void;
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const console = useContext(ConsoleContext);
  if (console === undefined) throw new Error('Outside of the console');
  return console;
}

/** The monitor's store; draws the component again with each round. */
export function useMonitor(): MonitorStore {
  const { store } = useConsole();
  const [, setRound] = useState(0);
  useEffect(() => store.subscribe(() => setRound((round) => round + 1)), [store]);
  return store;
}
