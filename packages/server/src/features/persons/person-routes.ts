import { routes } from '@halyard/contract'
import { storable } from '../../domain/distinct-id.ts'
import type { Person } from '../../domain/person.ts'
import { pageBody, readWindow } from '../../http/routes/page-links.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import { answer, type ServeRoute } from '../../http/routes/serve-route.ts'
import { invalid, missing } from '../../problem.ts'
import type { PersonStores } from '../../stores.ts'
import { requireNoViewer } from '../access/grants.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { placeOf } from '../projects/create-project.ts'
import type { GroupRef } from './group.ts'
import { listPersons } from './list-persons.ts'
import { distinctIdsShownMax, groupToWire, listedPersonToWire, personToWire } from './person-resource.ts'
import { readPropertyFilter } from './property-filter.ts'
import { removePerson } from './remove-person.ts'

const withPersons = { withPersons: true }

export function servePersons(serve: ServeRoute, { database, now }: RouteDeps): void {
  const { list, get, remove } = routes.persons

  serve(list, async ({ project, query, url, signal }) => {
    const window = readWindow(query)
    const { search, distinct_id: distinctId, email, properties } = query
    const wanted = {
      ...(search?.trim() && { search: storable(search.trim()) }),
      ...(distinctId && { distinctId: storable(distinctId) }),
      ...(email && { email: storable(email) }),
      ...(properties && { matches: readPropertyFilter(properties, project, now()) }),
    }
    const page = await listPersons(database, project.id, wanted, window, signal)
    const ids = await database.people.read(tx =>
      tx.persons.listDistinctIds(
        project.id,
        page.items.map(person => person.id),
        distinctIdsShownMax,
      ),
    )
    return pageBody(page, window, url, person => listedPersonToWire(person, ids.get(person.id) ?? []))
  })

  serve(get, ({ project, params }) =>
    database.people.read(async tx => {
      const person = await getPerson(tx, project.id, params.id)
      const ids = await tx.persons.listDistinctIds(project.id, [person.id], distinctIdsShownMax)
      return personToWire(person, ids.get(person.id) ?? [])
    }),
  )

  serve(remove, async ({ actor, project, params }) => {
    await database.transaction(async tx => {
      await requireNoViewer(tx, actor, project)
      await removePerson(tx, actor, project, await getPerson(tx.people, project.id, params.id), now())
    }, withPersons)
    return answer({ status: 202 })
  })
}

export function serveGroups(serve: ServeRoute, { database, now }: RouteDeps): void {
  const { list, find, remove, listTypes } = routes.groups

  serve(list, ({ project, query, url }) => {
    const window = readWindow(query)
    const typeIndex = readTypeIndex(query.group_type_index)
    const search = query.search?.trim() ? storable(query.search.trim()) : undefined
    return database.people.read(async tx =>
      pageBody(await tx.groups.list(project.id, typeIndex, search, window), window, url, groupToWire),
    )
  })

  serve(find, async ({ project, query }) => {
    const ref = readGroupRef(query)
    const group = await database.people.read(tx => tx.groups.find(project.id, ref))
    if (!group) throw missing('Group')
    return groupToWire(group)
  })

  serve(remove, async ({ actor, project, query }) => {
    const ref = readGroupRef(query)
    await database.transaction(async tx => {
      await requireNoViewer(tx, actor, project)
      if (!(await tx.people.groups.remove(project.id, ref))) throw missing('Group')
      const record = {
        scope: 'Group',
        itemId: `${ref.typeIndex}/${ref.key}`,
        name: ref.key,
        activity: 'deleted',
      } as const
      recordAudit(tx, actor, placeOf(project), record, now())
    }, withPersons)
    return answer({ status: 204 })
  })

  serve(listTypes, async ({ project }) =>
    Object.entries(project.groupTypes).map(([index, name]) => ({
      group_type: name,
      group_type_index: Number(index),
      name_singular: null,
      name_plural: null,
    })),
  )
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Finds a person by id or UUID. Throws `invalid` for anything else, since it is probably a distinct id, and `missing`. */
async function getPerson(tx: PersonStores, projectId: number, id: string): Promise<Person> {
  const isNumber = /^\d{1,15}$/.test(id)
  if (!isNumber && !uuidPattern.test(id)) {
    throw invalid(
      null,
      'invalid_input',
      'Use the id or UUID of a person. To find one by distinct id, list with `?distinct_id=`.',
    )
  }
  const person = await (isNumber ? tx.persons.find(projectId, Number(id)) : tx.persons.findByUuid(projectId, id))
  if (!person) throw missing('Person')
  return person
}

export function readTypeIndex(text: string | undefined): number {
  if (text === undefined || text === '') throw invalid('group_type_index', 'required', 'This parameter is required.')
  if (!/^[0-4]$/.test(text))
    throw invalid('group_type_index', 'invalid_input', 'group_type_index must be a number from 0 to 4.')
  return Number(text)
}

function readGroupRef(query: { group_type_index?: string; group_key?: string }): GroupRef {
  const typeIndex = readTypeIndex(query.group_type_index)
  if (!query.group_key) throw invalid('group_key', 'required', 'This parameter is required.')
  return { typeIndex, key: storable(query.group_key) }
}
