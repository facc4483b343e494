import { type Command, Option } from 'commander';
import type { TagOrder } from '@leaf-ids/core';
import { DEFAULT_STEP, MAX_STEP, MAX_TAGS_PER_PAGE, ORDERS } from '@leaf-ids/core/internal';
import { id, whole } from './options';
import { tagDetails, tagTable } from './results';
import type { Perform } from './source';

interface NewTagOptions {
  readonly step: number;
  readonly from?: bigint;
  readonly max?: bigint;
  readonly order?: TagOrder;
  readonly description?: string;
}

/** `leaf tags list|get|create`. */
export function addTagCommands(program: Command, perform: Perform): void {
  const tags = program.command('tags').description('list, show and create tags');
  // Otherwise the default command would get the word as an argument.
  tags.hook('preSubcommand', ({ args: [word = '-'] }, command) => {
    if (!word.startsWith('-') && word !== command.name()) tags.error(`error: unknown command '${word}'`);
  });
  tags
    .command('list', { isDefault: true })
    .description('list tags by name, page by page')
    .option('--after <tag>', 'start after this tag')
    .option('--limit <n>', `tags per page, 1 to ${MAX_TAGS_PER_PAGE}`, whole(1, MAX_TAGS_PER_PAGE), MAX_TAGS_PER_PAGE)
    .action(({ after, limit }: { after?: string; limit: number }) =>
      perform(async (source) => tagTable(await source.listTags(after, limit))),
    );
  tags
    .command('get')
    .description('show a tag')
    .argument('<tag>')
    .action((tag: string) => perform(async (source) => tagDetails(await source.findTag(tag)), tag));
  tags
    .command('create')
    .description('create a tag; a server requires an admin token')
    .argument('<tag>')
    .option('--step <n>', 'IDs that a server allocates at once', whole(1, MAX_STEP), DEFAULT_STEP)
    .option('--from <id>', 'first ID (default: 1, or the first unused ID of a deleted tag of this name)', id)
    .option('--max <id>', 'last ID', id)
    .addOption(new Option('--order <order>', 'strict: IDs ascend over all servers').choices(ORDERS))
    .option('--description <text>', 'what the tag is for')
    .action((tag: string, { step, from, ...settings }: NewTagOptions) => {
      const created = { tag, step, ...(from === undefined ? {} : { maxId: from }), ...settings };
      return perform(async (source) => tagDetails(await source.createTag(created)), tag);
    });
}
