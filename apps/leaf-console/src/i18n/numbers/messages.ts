import { useConsole } from '../../state/context';
import type { Language } from '../messages';
import type { NumberMessages } from './dictionary';
import { en } from './en';
import { zh } from './zh';

const MESSAGES: Readonly<Record<Language, NumberMessages>> = { en, zh };

/** The messages of the page for gapless tags. They are loaded with its code. */
export function useNumberMessages(): NumberMessages {
  return MESSAGES[useConsole().language];
}
