import { join } from 'node:path';
import { systemPrograms } from '../postgres';
import { debianSid } from './debian-sid';

/** The folder of its programs. The account that they run as comes with the PostgreSQL of the system. */
export async function postgres18(): Promise<string> {
  await systemPrograms();
  return join(await debianSid(), 'usr/lib/postgresql/18/bin');
}
