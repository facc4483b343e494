import type { Messages } from './dictionary';
import { en } from './en';
import { zh } from './zh';

export type Language = 'en' | 'zh';

export const MESSAGES: Readonly<Record<Language, Messages>> = { en, zh };

export function isLanguage(text: string | null): text is Language {
  return text === 'en' || text === 'zh';
}
