import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { Properties } from '../../domain/properties.ts'
import type { Tables } from '../../storage/tables.generated.ts'

const sampledMax = 1000
/** Bounds the sample to 10 MB. */
const sampledCharactersMax = 10_000

type Source<T extends 'persons' | 'groups'> = SelectQueryBuilder<Tables, T, object>

/** The properties of the newest of these rows, without those too large to sample. */
export async function sampleProperties(
  db: Kysely<Tables>,
  source: Source<'persons'> | Source<'groups'>,
): Promise<readonly Properties[]> {
  const newest = (source as Source<'persons'>).select('properties').orderBy('id', 'desc').limit(sampledMax).as('newest')
  const rows = await db.selectFrom(newest).select('properties').where(isSmall).execute()
  return rows.map(row => JSON.parse(row.properties))
}

const isSmall = sql<boolean>`length(properties) <= ${sampledCharactersMax}`
