import type { CohortDefinition } from '@halyard/engine'
import type { Flag } from '../../domain/flag.ts'
import type { Database, Stores } from '../../stores.ts'
import type { ProjectSource } from './project-source.ts'

type ListCohorts = (tx: Stores, projectId: number) => Promise<readonly CohortDefinition[]>

const definitionsOf: ListCohorts = (tx, projectId) => tx.cohorts.listDefinitions(projectId)

/** Reads projects from the database. */
export function storedProjects(
  database: Pick<Database, 'read' | 'query' | 'people'>,
  listCohorts: ListCohorts = definitionsOf,
): ProjectSource {
  return {
    findIdByToken: token => database.read(async tx => (await tx.projects.findByToken(token))?.id),
    findIdBySecretKey: hash => database.read(async tx => (await tx.projects.findBySecretKey(hash))?.id),
    async read(projectId) {
      const hasPersons = await holdsPersons(database.people, projectId)
      return database.read(async tx => {
        const project = await tx.projects.find(projectId)
        if (!project) return undefined
        const cohorts = await listCohorts(tx, projectId)
        return { project, flags: (await tx.flags.listLive(projectId)).filter(isServed), cohorts, hasPersons }
      })
    },
    // Usually one flag has changed, and the writer waits for this read; several need one consistent read.
    readFlags: (projectId, flagIds) =>
      (flagIds.length === 1 ? database.query : database.read)(async tx =>
        (await tx.flags.findLive(projectId, flagIds)).filter(isServed),
      ),
  }
}

/** Lookups are skipped while a project has none. What is served must not depend on another database, so then it may have some. */
const holdsPersons = async (people: Database['people'], projectId: number): Promise<boolean> =>
  people.isSeparate || (await people.query(tx => tx.persons.scan(projectId, 0, 1))).length > 0

const isServed = ({ archived }: Flag): boolean => !archived
