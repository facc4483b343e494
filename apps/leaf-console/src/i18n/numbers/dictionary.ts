import type { Translation } from '../dictionary';
import type { en } from './en';

export type NumberMessages = Translation<typeof en>;
