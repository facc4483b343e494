import type { en } from './en';

/** A translation of `English`, which defines the keys and parameters. */
export type Translation<English> = {
  readonly [Name in keyof English]: English[Name] extends (...parameters: infer Parameters) => string
    ? (...parameters: Parameters) => string
    : string;
};

/** The messages of the page. */
export type Messages = Translation<typeof en>;
