import { createHash } from 'node:crypto'
import { propertyKinds, routes } from '@halyard/contract'
import { storable } from '../../domain/distinct-id.ts'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { ServeRoute } from '../../http/routes/serve-route.ts'
import { invalid } from '../../problem.ts'
import type { Database } from '../../stores.ts'
import { readTypeIndex } from '../persons/person-routes.ts'
import type { Definition, DefinitionKind } from './definition.ts'
import { type CountedValue, countValues, isFound, namesIn, valuesShownMax } from './sample-values.ts'

export function serveDefinitions(serve: ServeRoute, { database }: { readonly database: Database }): void {
  const r = routes.definitions

  serve(r.listProperties, async ({ project, query, url }) => {
    const type = propertyKinds.find(kind => kind === (query.type || 'event'))
    if (!type) throw invalid('type', 'invalid_choice', `type must be one of ${propertyKinds.join(', ')}.`)
    const groupIndex = type === 'group' ? readTypeIndex(query.group_type_index) : null
    const kind: DefinitionKind =
      groupIndex !== null ? `group:${groupIndex}` : type === 'event' ? 'event_property' : 'person'
    const stored = await database.query(tx => tx.definitions.list(project.id, kind))
    const sample = await database.people.query(async tx => {
      if (groupIndex !== null) return tx.groups.sample(project.id, groupIndex)
      return type === 'person' ? tx.persons.sample(project.id) : []
    })
    const byName = new Map<string, Pick<Definition, 'name' | 'type'> & { lastSeenAt: string | null }>()
    for (const [name, propertyType] of namesIn(sample)) byName.set(name, { name, type: propertyType, lastSeenAt: null })
    for (const one of stored) byName.set(one.name, one)
    const matching = [...byName.values()]
      .filter(({ name }) => isFound(name, query.search ?? ''))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    const window = readWindow(query)
    const items = matching.slice(window.offset, window.offset + window.limit)
    return pageBody({ count: matching.length, items }, window, url, one => ({
      id: stableId(project.uuid, kind, one.name),
      name: one.name,
      type,
      group_type_index: groupIndex,
      property_type: one.type,
      is_numerical: one.type === 'Numeric',
      last_seen_at: one.lastSeenAt,
    }))
  })

  serve(r.listEvents, async ({ project, query, url }) => {
    const stored = await database.query(tx => tx.definitions.list(project.id, 'event'))
    const matching = stored.filter(({ name }) => isFound(name, query.search ?? ''))
    const window = readWindow(query)
    const items = matching.slice(window.offset, window.offset + window.limit)
    return pageBody({ count: matching.length, items }, window, url, one => ({
      id: stableId(project.uuid, 'event', one.name),
      name: one.name,
      created_at: one.createdAt,
      last_seen_at: one.lastSeenAt,
    }))
  })

  serve(r.personValues, async ({ project, query }) => {
    const key = readKey(query.key)
    const sample = await database.people.query(tx => tx.persons.sample(project.id))
    return countValues(sample, key, query.value ?? '').map(valueToWire)
  })

  serve(r.groupValues, async ({ project, query }) => {
    const key = readKey(query.key)
    const typeIndex = readTypeIndex(query.group_type_index)
    const sample = await database.people.query(tx => tx.groups.sample(project.id, typeIndex))
    return countValues(sample, key, query.value ?? '').map(valueToWire)
  })

  serve(r.eventValues, async ({ project, query }) => {
    const key = readKey(query.key)
    const values = await database.query(tx => tx.definitions.listValues(project.id, key))
    return values
      .filter(({ value }) => isFound(value, query.value ?? ''))
      .slice(0, valuesShownMax)
      .map(({ value }) => valueToWire({ value, count: 1 }))
  })
}

function readKey(text: string | undefined): string {
  if (!text) throw invalid('key', 'required', 'This parameter is required.')
  return storable(text)
}

const valueToWire = ({ value, count }: CountedValue) => ({ name: value, count })

/** A UUID of version 8, whose content is free (RFC 9562). */
function stableId(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
