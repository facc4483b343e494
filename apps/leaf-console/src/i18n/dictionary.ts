import type { en } from './en';

/** The words of the page: the English ones say which there are, and what each is told. */
export type Messages = {
  readonly [Name in keyof typeof en]: (typeof en)[Name] extends (...told: infer Told) => string
    ? (...told: Told) => string
    : string;
};
