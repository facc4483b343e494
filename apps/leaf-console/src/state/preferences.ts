import { isLanguage, type Language } from '../i18n/messages';

export type Theme = 'system' | 'light' | 'dark';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const THEME_KEY = 'leaf.theme';
const LANGUAGE_KEY = 'leaf.language';
const TOKEN_KEY = 'leaf.token';

/** Preferences in the storage of the browser. Without access to the storage, they last until the page is reloaded. */
export const preferences = {
  theme: (): Theme => THEMES.find((theme) => theme === read(() => localStorage, THEME_KEY)) ?? 'system',
  setTheme: (theme: Theme): void => write(() => localStorage, THEME_KEY, theme),
  nextTheme: (theme: Theme): Theme => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system',
  language: (): Language => {
    const chosen = read(() => localStorage, LANGUAGE_KEY);
    if (isLanguage(chosen)) return chosen;
    return navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en';
  },
  setLanguage: (language: Language): void => write(() => localStorage, LANGUAGE_KEY, language),
  /** The admin token lives as long as the tab. */
  token: (): string => read(() => sessionStorage, TOKEN_KEY) ?? '',
  setToken: (token: string): void => write(() => sessionStorage, TOKEN_KEY, token),
};

function read(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(key);
  } catch {
    return null;
  }
}

function write(storage: () => Storage, key: string, value: string): void {
  try {
    if (value === '') storage().removeItem(key);
    else storage().setItem(key, value);
  } catch {
    // The browser denies access to its storage.
  }
}
