import { Kbd, Table } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { Dialog } from '../../ui/dialog/dialog.tsx'

export function ShortcutHelp({ onClose }: { onClose: () => void }) {
  const t = useMessages()
  const rows: [string, string][] = [
    ['j', t.keys.next],
    ['k', t.keys.previous],
    ['e ↵', t.keys.open],
    ['x', t.keys.select],
    ['t', t.keys.toggle],
    ['u', t.keys.undo],
    ['/', t.keys.search],
    ['n', t.keys.create],
    ['Esc', t.flags.bulkClear],
    ['?', t.keys.help],
    ['Ctrl S', t.keys.save],
    ['Ctrl K', t.keys.jump],
  ]
  return (
    <Dialog onClose={onClose} title={t.keys.title}>
      <Table withRowBorders={false}>
        <Table.Tbody>
          {rows.map(([key, does]) => (
            <Table.Tr key={key}>
              <Table.Th scope="row" w={90}>
                <Kbd>{key}</Kbd>
              </Table.Th>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Dialog>
  )
}
