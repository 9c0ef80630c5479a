/** The tags with one of them renamed in place; a tag that is there already is not repeated, and null removes. */
export function replaceTag(tags: readonly unknown[], tag: string, replacement: string | null): readonly unknown[] {
  const replaced = tags.flatMap(each => (each !== tag ? [each] : replacement === null ? [] : [replacement]))
  return replaced.filter((each, index) => each !== replacement || replaced.indexOf(each) === index)
}
