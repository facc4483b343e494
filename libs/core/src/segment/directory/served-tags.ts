import type { TagSource } from '../allocation/tag-source';

/** The remembered tag changes after this many lookups of other tags. */
const PERIOD = 1024;
/** No tag: compared faster than undefined. */
const NONE = '';

/**
 * The tags that issue IDs. Remembers a tag, because an application often uses one many times in a row. It changes
 * rarely, so that tags used in turn cost a comparison and a countdown more, and less if one of them is remembered.
 */
export class ServedTags extends Map<string, TagSource> {
  private rememberedTag = NONE;
  private remembered: TagSource | undefined = undefined;
  /** Lookups of other tags before the remembered tag changes. */
  private rest = 1;

  /** As {@link get}; costs less than half of it for the remembered tag. */
  find(tag: string): TagSource | undefined {
    return tag === this.rememberedTag ? this.remembered : this.look(tag);
  }

  private look(tag: string): TagSource | undefined {
    const source = this.get(tag);
    if (--this.rest === 0) {
      this.rest = PERIOD;
      this.rememberedTag = tag;
      this.remembered = source;
    }
    return source;
  }

  override set(tag: string, source: TagSource): this {
    this.forget();
    return super.set(tag, source);
  }

  override delete(tag: string): boolean {
    this.forget();
    return super.delete(tag);
  }

  override clear(): void {
    this.forget();
    super.clear();
  }

  private forget(): void {
    this.rememberedTag = NONE;
    this.remembered = undefined;
    this.rest = 1;
  }
}
