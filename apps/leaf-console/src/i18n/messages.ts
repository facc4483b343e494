import { en } from './en';
import { zh } from './zh';

/** The words of the page: the English ones say which there are, and what each is told. */
export type Messages = {
  readonly [Name in keyof typeof en]: (typeof en)[Name] extends (...told: infer Told) => string
    ? (...told: Told) => string
    : string;
};

export type Language = 'en' | 'zh';

export const MESSAGES: Readonly<Record<Language, Messages>> = { en, zh };

export function isLanguage(text: string | null): text is Language {
  return text === 'en' || text === 'zh';
}
