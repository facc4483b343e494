import { DataSource } from 'typeorm';
import { sharedTarget } from './database-url';

it.each([
  { type: 'mysql', database: 'orders' } as const,
  { type: 'mysql', url: 'mysql://user:secret@host/orders' } as const,
  { type: 'postgres', url: 'postgres://user:secret@host/orders' } as const,
])('names the database of %j without secrets', (options) => {
  expect(sharedTarget(new DataSource(options))).toMatchObject({
    database: 'orders',
    description: `${options.type} database orders of the application`,
  });
});
