import { Inject, Injectable, type OnModuleInit, Optional } from '@nestjs/common';
import { LeafError, TagStore } from '@leaf/core';
import { type IdModuleFactoryOptions, MODULE_OPTIONS_TOKEN } from './id.module-definition';

/** Of a tag that is declared by its name alone. */
const STEP = 2000;

/** Makes the tags that the options declare, before the application asks for their IDs. */
@Injectable()
export class DeclaredTags implements OnModuleInit {
  constructor(
    @Inject(MODULE_OPTIONS_TOKEN) private readonly options: IdModuleFactoryOptions,
    @Optional() private readonly store?: TagStore,
  ) {}

  /** @throws LeafError see {@link TagStore.create}; a tag that is there stays as it is */
  async onModuleInit(): Promise<void> {
    for (const declared of this.options.tags ?? []) {
      const tag = typeof declared === 'string' ? { tag: declared, step: STEP } : declared;
      await this.store?.create(tag).catch(ignoreExisting);
    }
  }
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof LeafError) || error.code !== 'LEAF_TAG_EXISTS') throw error;
}
