import { isLeafError, LeafError, type NewTag, type TagRow, type TagStore } from '@leaf-ids/core';
import { type DeclaredTag, newTagOf } from '@leaf-ids/core/internal';

type Setting = keyof NewTag & keyof TagRow;

/** Settings that determine the IDs of a tag and never change. */
const FIXED: readonly Setting[] = ['order', 'reset', 'zone', 'interleave'];
/** Settings that an operator may have changed since. */
const CHANGEABLE: readonly Setting[] = ['step', 'maxStep', 'max'];

/**
 * Creates a tag that an application declares, unless it exists. An existing tag remains unchanged.
 *
 * @param warn receives the difference if the tag exists with another step or limit, or with an invalid row
 * @throws LeafError `LEAF_CONFIG_INVALID` if the tag exists with other fixed settings or continues below the
 *   declared `maxId`, or its name cannot be used: a name that differs in case only exists, or a strict tag of this name was deleted; other errors of `TagStore.create`
 */
export async function createDeclared(
  tags: TagStore,
  declared: string | DeclaredTag,
  warn: (message: string) => void,
): Promise<void> {
  const { tag } = newTagOf(declared);
  try {
    await tags.create(newTagOf(declared));
  } catch (error) {
    if (!isLeafError(error, 'LEAF_TAG_EXISTS')) throw error;
    const row = await found(tags, tag, warn);
    if (row === 'invalid') return;
    if (row === undefined) throw invalid(`declares the tag "${tag}", which cannot be created: ${error.message}`, error);
    if (typeof declared === 'string') return;
    const fixed = differences(FIXED, declared, row);
    if (fixed !== undefined) {
      throw invalid(
        `declares ${fixed}. These settings never change: declare the tag as it is, or choose another name.`,
        error,
      );
    }
    const { maxId = 0n } = declared;
    if (row.reset === undefined && row.maxId < maxId) {
      throw invalid(
        `declares the first ID ${maxId} of the tag "${tag}", which exists and continues at ${row.maxId}: it would issue IDs below the declared one. Raise maxId of the tag to ${maxId} through the API of a server or TagStore.change, or declare the tag without maxId.`,
        error,
      );
    }
    const changed = differences(CHANGEABLE, declared, row);
    if (changed !== undefined) warn(`The declared tags name ${changed}. An existing tag is not changed.`);
  }
}

async function found(
  tags: TagStore,
  tag: string,
  warn: (message: string) => void,
): Promise<TagRow | 'invalid' | undefined> {
  try {
    return await tags.find(tag);
  } catch (error) {
    if (!isLeafError(error, 'LEAF_TAG_ROW_INVALID')) throw error;
    warn(`The declared tag "${tag}" gives no IDs: ${error.message}`);
    return 'invalid';
  }
}

/** The declared settings that the row does not have; omitted ones are not compared. */
function differences(settings: readonly Setting[], declared: DeclaredTag, row: TagRow): string | undefined {
  const differing = settings.filter(
    (name) => declared[name] !== undefined && shown(name, declared) !== shown(name, row),
  );
  if (differing.length === 0) return undefined;
  const list = (of: DeclaredTag | TagRow): string => differing.map((name) => `${name} ${shown(name, of)}`).join(', ');
  return `the tag "${row.tag}" with ${list(declared)}, but it exists with ${list(row)}`;
}

function shown(name: Setting, of: DeclaredTag | TagRow): string {
  const { interleave } = of;
  // With several databases, Leaf assigns the remainders.
  if (name === 'interleave') return interleave ? `of ${interleave.of}, block ${interleave.block}` : 'none';
  return String(of[name] ?? (name === 'zone' ? 'UTC' : 'none'));
}

function invalid(fault: string, cause: unknown): LeafError {
  return new LeafError('LEAF_CONFIG_INVALID', `The list of declared tags ${fault}`, { cause });
}
