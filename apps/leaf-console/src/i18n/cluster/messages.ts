import { useConsole } from '../../state/context';
import type { Language } from '../messages';
import type { ClusterMessages } from './dictionary';
import { en } from './en';
import { zh } from './zh';

const MESSAGES: Readonly<Record<Language, ClusterMessages>> = { en, zh };

/** The messages of the cluster page. They are loaded with its code. */
export function useClusterMessages(): ClusterMessages {
  return MESSAGES[useConsole().language];
}
