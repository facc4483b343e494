import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import type { AdminApi } from '../api/admin-api';
import type { Format } from '../format/format';
import type { Messages } from '../i18n/dictionary';
import type { Language } from '../i18n/messages';
import type { MonitorStore } from '../monitor/monitor-store';
import type { Theme } from './preferences';

/** State and services that all components share. */
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
  if (console === undefined) throw new Error('useConsole() must be called inside ConsoleContext.Provider.');
  return console;
}

/** The monitor store; renders the component again after each round. */
export function useMonitor(): MonitorStore {
  const { store } = useConsole();
  const [, setRound] = useState(0);
  useEffect(() => store.subscribe(() => setRound((round) => round + 1)), [store]);
  return store;
}
