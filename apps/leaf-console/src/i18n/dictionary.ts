import type { en } from './en';

/** The messages of the page. The English messages define the keys and parameters. */
export type Messages = {
  readonly [Name in keyof typeof en]: (typeof en)[Name] extends (...parameters: infer Parameters) => string
    ? (...parameters: Parameters) => string
    : string;
};
