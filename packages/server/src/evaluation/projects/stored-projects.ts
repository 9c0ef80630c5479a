import type { CohortDefinition } from '@halyard/engine'
import type { Flag } from '../../features/flags/flag.ts'
import type { Database, Stores } from '../../stores.ts'
import type { ProjectSource } from './project-source.ts'

type ListCohorts = (tx: Stores, projectId: number) => Promise<readonly CohortDefinition[]>

const definitionsOf: ListCohorts = (tx, projectId) => tx.cohorts.listDefinitions(projectId)

/** Projects as the database has them. */
export function storedProjects(
  database: Pick<Database, 'read' | 'query'>,
  listCohorts: ListCohorts = definitionsOf,
): ProjectSource {
  return {
    findIdByToken: token => database.read(async tx => (await tx.projects.findByToken(token))?.id),
    findIdBySecretKey: hash => database.read(async tx => (await tx.projects.findBySecretKey(hash))?.id),
    read: projectId =>
      database.read(async tx => {
        const project = await tx.projects.find(projectId)
        if (!project) return undefined
        const cohorts = await listCohorts(tx, projectId)
        const hasPersons = (await tx.persons.scan(projectId, 0, 1)).length > 0
        return { project, flags: (await tx.flags.listLive(projectId)).filter(isServed), cohorts, hasPersons }
      }),
    // Nearly always one flag has changed, and writers wait for it; several have to be read at one moment.
    readFlags: (projectId, flagIds) =>
      (flagIds.length === 1 ? database.query : database.read)(async tx =>
        (await tx.flags.findLive(projectId, flagIds)).filter(isServed),
      ),
  }
}

const isServed = ({ archived }: Flag): boolean => !archived
