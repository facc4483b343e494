import type { Translation } from '../dictionary';
import type { en } from './en';

export type ClusterMessages = Translation<typeof en>;
