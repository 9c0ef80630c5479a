import Type, { type TSchema } from 'typebox'
import { Integer, NamedObject, Nullable, Text } from './schema.ts'

/** Contract 2.6: the envelope of every list. */
export const Page = <S extends TSchema>(item: S) =>
  NamedObject(`PageOf${titleOf(item)}`, 'A page of a list.', {
    count: Integer('Total number of items.', 1),
    next: Nullable(Text('URL of the next page.', null)),
    previous: Nullable(Text('URL of the previous page.', null)),
    results: Type.Array(item, { description: 'Items of this page.' }),
  })

const titleOf = (schema: TSchema): string => String((schema as { title?: string }).title)

export const pageQuery = {
  limit: Type.Optional(Integer('Number of results per page (default 100, at most 1000).', 100)),
  offset: Type.Optional(Integer('Index of the first result.', 0)),
}
export const PageQuery = Type.Object(pageQuery)
