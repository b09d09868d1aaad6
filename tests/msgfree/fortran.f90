! SPDX-License-Identifier: Apache-2.0
! Receives in Fortran, each known by its tag; a rank sends to itself. Compiled with -DMODULE=mpi and
! with -DMODULE=mpi_f08, whose handles are types of their own.
program receives
  use MODULE
  implicit none
  integer, parameter :: many = 3
  integer :: error, i, which
  logical :: flag
  double precision :: from(10), into(10), each(many)
  KIND_OF(MPI_Request) :: request, requests(many)
  KIND_OF(MPI_Message) :: message
  from = 1
  call MPI_Init(error)
  call MPI_Isend(from, 1, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, request, error)
  call MPI_Recv(into, 10, MPI_DOUBLE_PRECISION, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Irecv(into, 10, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, request, error)
  call MPI_Send(from, 2, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Sendrecv(from, 3, MPI_DOUBLE_PRECISION, 0, 3, into, 10, MPI_DOUBLE_PRECISION, 0, 3, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Sendrecv_replace(into, 4, MPI_DOUBLE_PRECISION, 0, 4, 0, 4, MPI_COMM_WORLD, &
                            MPI_STATUS_IGNORE, error)
  call MPI_Recv_init(into, 10, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, request, error)
  do i = 1, 2
    call MPI_Start(request, error)
    call MPI_Send(from, 5, MPI_DOUBLE_PRECISION, 0, 5, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Request_free(request, error)
  do i = 1, many
    call MPI_Irecv(each(i), 1, MPI_DOUBLE_PRECISION, 0, 10 + i, MPI_COMM_WORLD, requests(i), error)
    call MPI_Send(from, 1, MPI_DOUBLE_PRECISION, 0, 10 + i, MPI_COMM_WORLD, error)
  end do
  flag = .false.
  do while (.not. flag)
    call MPI_Testany(many, requests, which, flag, MPI_STATUS_IGNORE, error)
  end do
  call MPI_Waitall(many, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Isend(from, 6, MPI_DOUBLE_PRECISION, 0, 6, MPI_COMM_WORLD, request, error)
  call MPI_Mprobe(0, 6, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, error)
  call MPI_Mrecv(into, 10, MPI_DOUBLE_PRECISION, message, MPI_STATUS_IGNORE, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  call MPI_Allreduce(from, into, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program receives
