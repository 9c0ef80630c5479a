import { Link } from '@tanstack/react-router'

interface Props {
  projectId: string
  person: { readonly uuid: string; readonly name: string }
}

export function PersonLink({ projectId, person }: Props) {
  return (
    <Link to="/project/$projectId/persons/$personId" params={{ projectId, personId: person.uuid }}>
      {person.name}
    </Link>
  )
}
