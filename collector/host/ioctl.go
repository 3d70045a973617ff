package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Numbers and structures are those of include/uapi/linux/ethtool.h.
const (
	statsSet = 1  // ETH_SS_STATS
	nameSize = 32 // ETH_GSTRING_LEN

	// maxStats is how many statistics an interface may have: what fits, as
	// names, into statsRoom.
	maxStats  = 32767
	statsRoom = 1 << 20
)

var errTooManyStats = fmt.Errorf("more than %d statistics", maxStats)

// ethtoolSocket is a socket of any kind: the ioctl that carries ethtool's
// commands has to be sent on one. It is opened when first needed.
type ethtoolSocket struct {
	mu   sync.Mutex
	file *os.File
}

func (s *ethtoolSocket) open() (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("opening a socket for ethtool: %w", err)
		}
		s.file = os.NewFile(uintptr(fd), "ethtool")
	}
	return s.file, nil
}

func (s *ethtoolSocket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.file.Close()
	}
}

// ifreq is struct ifreq with its member ifr_data.
type ifreq struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte // of the union, whose largest member has 24 bytes
}

// ethtool sends the ethtool command that stands in data and leaves the answer
// there.
func (s *ethtoolSocket) ethtool(netdev string, data []byte) error {
	file, err := s.open()
	if err != nil {
		return err
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	request := ifreq{data: unsafe.Pointer(unsafe.SliceData(data))}
	copy(request.name[:len(request.name)-1], netdev)
	var errno unix.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, errno = unix.Syscall(unix.SYS_IOCTL, fd, unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	})
	runtime.KeepAlive(data)
	if err == nil && errno != 0 {
		err = errno
	}
	return err
}

// statsBuffer is where the kernel puts names and values. It copies as many as
// the driver has at that moment, whatever room there is (since 7b07be1ff1cb,
// in 6.19, it compares with the number it is given). So this is no memory of
// Go's, and behind it comes a page that cannot be written: too many give EFAULT
// and destroy nothing.
func (d *Door) statsBuffer() ([]byte, error) {
	if d.stats == nil {
		mem, err := unix.Mmap(-1, 0, statsRoom+os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return nil, fmt.Errorf("making room for statistics: %w", err)
		}
		if err := unix.Mprotect(mem[statsRoom:], unix.PROT_NONE); err != nil {
			return nil, errors.Join(fmt.Errorf("making room for statistics: %w", err), unix.Munmap(mem))
		}
		d.stats = mem
		// As for a file: a door that nobody closes does not leak.
		d.statsCleanup = runtime.AddCleanup(d, func(mem []byte) { _ = unix.Munmap(mem) }, mem)
	}
	return d.stats[:statsRoom], nil
}

func (d *Door) freeStatsBuffer() {
	if d.stats != nil {
		d.statsCleanup.Stop()
		_ = unix.Munmap(d.stats)
		d.stats = nil
	}
}

// askStats sends one of ethtool's three commands about statistics: how many
// there are, their names, their values. It returns how many the kernel counts
// and, for the last two, their bytes, which the next call overwrites. n is the
// number that is expected. From 6.19 a kernel that counts otherwise answers 0.
func (d *Door) askStats(netdev string, command uint32, n int) (int, []byte, error) {
	mem, err := d.statsBuffer()
	if err != nil {
		return 0, nil, err
	}
	request := statsRequest(mem[:0], command, n)
	err = d.count(d.host.socket.ethtool(netdev, request))
	defer runtime.KeepAlive(d)
	switch {
	case errors.Is(err, unix.EFAULT):
		return 0, nil, errTooManyStats
	case err != nil:
		return 0, nil, err
	}
	return statsAnswer(mem, command)
}

// statsRequest appends the structure that a command starts with.
func statsRequest(b []byte, command uint32, n int) []byte {
	order := binary.NativeEndian
	b = order.AppendUint32(b, command)
	switch command {
	case unix.ETHTOOL_GSSET_INFO: // struct ethtool_sset_info
		b = order.AppendUint32(b, 0)
		b = order.AppendUint64(b, 1<<statsSet)
		return order.AppendUint32(b, 0)
	case unix.ETHTOOL_GSTRINGS: // struct ethtool_gstrings
		b = order.AppendUint32(b, statsSet)
	}
	return order.AppendUint32(b, uint32(n)) // also of struct ethtool_stats
}

// statsAnswer takes such a structure and what follows it apart.
func statsAnswer(mem []byte, command uint32) (int, []byte, error) {
	order := binary.NativeEndian
	count, start, size := uint32(0), 0, 0
	switch command {
	case unix.ETHTOOL_GSSET_INFO:
		if order.Uint64(mem[8:]) == 0 {
			return 0, nil, unix.EOPNOTSUPP // the driver has no such set
		}
		count = order.Uint32(mem[16:])
	case unix.ETHTOOL_GSTRINGS:
		count, start, size = order.Uint32(mem[8:]), 12, nameSize
	case unix.ETHTOOL_GSTATS:
		count, start, size = order.Uint32(mem[4:]), 8, 8
	}
	if count > maxStats {
		return 0, nil, errTooManyStats
	}
	return int(count), mem[start : start+int(count)*size], nil
}
